import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's own environment of Node.js, whose global object is a plain one. Jest makes it of a proxy, so that each look at
 * `Map` or `Math` from a test's code is a call of an interceptor: specs that compute take two to three times as long.
 * What is given up is a check for globals that a test leaves behind.
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
