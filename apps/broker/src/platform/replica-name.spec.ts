import { hostname } from 'node:os';
import { replicaName } from './replica-name.js';

const POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };

describe('the name of a replica', () => {
  it('is that of the pod in Kubernetes, whatever the port', () => {
    expect(replicaName({ environment: POD, port: 8080 })).toBe(hostname());
    expect(replicaName({ environment: POD, port: 0 })).toBe(hostname());
  });

  it('tells replicas on one host apart by their ports', () => {
    expect(replicaName({ environment: {}, port: 8080 })).toBe(`${hostname()}:8080`);
    expect(replicaName({ environment: { KUBERNETES_SERVICE_HOST: '' }, port: 8081 })).toBe(`${hostname()}:8081`);
  });

  it('tells them apart by their processes where each takes any port that is free', () => {
    expect(replicaName({ environment: {}, port: 0 })).toBe(`${hostname()}:process-${process.pid}`);
  });
});
