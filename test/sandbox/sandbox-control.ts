/**
 * One control request to a sandbox.
 * @returns the JSON of the answer; undefined if it has none
 * @throws Error if the sandbox refuses the request
 */
export async function sandboxControl(url: string, request: ControlRequest): Promise<unknown> {
  const { method, path, body } = request;
  const response = await fetch(`${url}/control${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (!response.ok) throw new Error(`sandbox control answered ${response.status}: ${await response.text()}`);
  return response.status === 204 ? undefined : await response.json();
}

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
}
