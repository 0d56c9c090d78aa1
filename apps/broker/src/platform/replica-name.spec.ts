import { hostname } from 'node:os';
import { replicaName } from './platform.js';

const POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };

describe('the name of a replica', () => {
  it('is that of the pod in Kubernetes, whatever the port', () => {
    expect(replicaName(POD, 8080)).toBe(hostname());
    expect(replicaName(POD, 0)).toBe(hostname());
  });

  it('tells replicas on one host apart by their ports', () => {
    expect(replicaName({}, 8080)).toBe(`${hostname()}:8080`);
    expect(replicaName({ KUBERNETES_SERVICE_HOST: '' }, 8081)).toBe(`${hostname()}:8081`);
  });

  it('tells them apart by their processes where each takes any port that is free', () => {
    expect(replicaName({}, 0)).toBe(`${hostname()}:process-${process.pid}`);
  });
});
