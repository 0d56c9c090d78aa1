import type { Deployment } from './deployment.js';
import { DeploymentInForce } from './deployment-in-force.js';

/** Counts how often it is closed, and finishes closing when told to. */
const aDeployment = () => {
  const ended = Promise.withResolvers<void>();
  const facts = { closed: 0, end: ended.resolve };
  const close = (): Promise<void> => {
    facts.closed += 1;
    return ended.promise;
  };
  return Object.assign(facts, { deployment: { close, requests: 0 } as Partial<Deployment> as Deployment });
};

describe('the deployment in force', () => {
  it('is the one that a request keeps to its end, whatever replaces it', () => {
    const [first, second] = [aDeployment(), aDeployment()];
    const inForce = new DeploymentInForce(first.deployment);
    const [one, other] = [inForce.enter(), inForce.enter()];
    inForce.replace(second.deployment);
    expect([inForce.current, inForce.enter()]).toEqual([second.deployment, second.deployment]);
    inForce.leave(one);
    expect(first.closed).toBe(0);
    inForce.leave(other);
    expect([first.closed, second.closed]).toEqual([1, 0]);
  });

  it('is closed at once when it is replaced while nobody uses it', () => {
    const first = aDeployment();
    const inForce = new DeploymentInForce(first.deployment);
    inForce.leave(inForce.enter());
    expect(first.closed).toBe(0);
    inForce.replace(aDeployment().deployment);
    expect(first.closed).toBe(1);
  });

  it('is closed at the end, after those before it have ended as well', async () => {
    const [first, second] = [aDeployment(), aDeployment()];
    const inForce = new DeploymentInForce(first.deployment);
    inForce.replace(second.deployment);
    let isClosed = false;
    const closing = inForce.close().then(() => (isClosed = true));
    second.end();
    await Promise.resolve();
    expect([second.closed, isClosed]).toEqual([1, false]);
    first.end();
    await closing;
    expect(isClosed).toBe(true);
  });
});
