import type { IncomingHttpHeaders } from 'node:http'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpServer, type McpOptions } from './server.ts'

/** One request of streamable HTTP, without a session: a server is made for it, answers and is gone. */
export async function answerMcp(
  options: McpOptions,
  { url, headers, body, signal }: { url: string; headers: IncomingHttpHeaders; body: unknown; signal: AbortSignal },
): Promise<{ status: number; contentType: string | null; text: string }> {
  const server = createMcpServer(options)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const leave = () => void server.close()
  signal.addEventListener('abort', leave, { once: true })
  try {
    await server.connect(transport)
    // The body is read already, and bounded.
    const request = new Request(url, { method: 'POST', headers: wanted(headers) })
    const answer = await transport.handleRequest(request, { parsedBody: body ?? null })
    return { status: answer.status, contentType: answer.headers.get('content-type'), text: await answer.text() }
  } finally {
    signal.removeEventListener('abort', leave)
    await server.close()
  }
}

/** The headers that the protocol looks at; no token goes further. */
function wanted(headers: IncomingHttpHeaders): Headers {
  const kept = new Headers()
  for (const name of ['accept', 'content-type', 'mcp-protocol-version']) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  return kept
}
