import { hostname } from 'node:os';
import { replicaName } from './platform.js';

const POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };

it.each([
  ['that of the pod in Kubernetes, whatever the port', POD, 8080, hostname()],
  ['that of the pod in Kubernetes, whatever the port', POD, 0, hostname()],
  ['told apart on one host by its port', {}, 8080, `${hostname()}:8080`],
  ['told apart on one host by its port', { KUBERNETES_SERVICE_HOST: '' }, 8081, `${hostname()}:8081`],
  ['told apart by its process where any port is taken', {}, 0, `${hostname()}:process-${process.pid}`],
])('the name of a replica is %s', (...[, environment, port, name]) => {
  expect(replicaName(environment, port)).toBe(name);
});
