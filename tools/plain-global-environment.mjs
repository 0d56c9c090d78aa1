import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's own Node.js environment, but with a plain global object. Jest makes it a proxy, so that each use of `Map` or
 * `Math` in a test calls an interceptor: specs that compute take two to three times as long. What is given up is the
 * check for globals that a test leaves behind.
 */
export default class PlainGlobalEnvironment extends TestEnvironment {
  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }
}
