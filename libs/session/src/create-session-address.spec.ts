import { createSessionAddress } from './create-session-address.js';

describe('the address of create calls', () => {
  it.each([
    ['https://bank.example', 'https://bank.example/api-gateway/authorize_virtual_device'],
    ['https://bank.example:8443/', 'https://bank.example:8443/api-gateway/authorize_virtual_device'],
    ['https://bank.example/a/b//', 'https://bank.example/a/b/api-gateway/authorize_virtual_device'],
    ['https://bank.example//other.example', 'https://bank.example//other.example/api-gateway/authorize_virtual_device'],
  ])('is below baseUrl, and never at another host: %s', (baseUrl, address) => {
    expect(createSessionAddress({ baseUrl: new URL(baseUrl) }).href).toBe(address);
  });
});
