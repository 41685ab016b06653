import type { IncomingHttpHeaders } from 'node:http'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { refuse } from '../refusal.ts'
import { createMcpServer, type McpOptions } from './server.ts'
import { namesIn, type ToolChoice, whyNoChoice } from './tool-sets.ts'

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

/**
 * Reads which tools a client chose in the query of the address: `tools`, `readOnly` and `outputSchemas`. Other parameters are
 * ignored.
 * @throws a refusal `invalid_request` that names the invalid parameter
 */
export function choiceOf({ tools, readOnly, outputSchemas }: Readonly<Record<string, unknown>>): ToolChoice {
  const errors: { field: string; message: string }[] = []
  const flag = (field: string, value: unknown): boolean => {
    if (value !== undefined && value !== 'true' && value !== 'false')
      errors.push({ field: `query.${field}`, message: 'must be true or false' })
    return value === 'true'
  }
  const names = tools === undefined ? undefined : namesIn([tools].flat().join(','))
  const wrong = names && whyNoChoice(names)
  if (wrong !== undefined) errors.push({ field: 'query.tools', message: wrong })
  const choice = {
    tools: names,
    readOnly: flag('readOnly', readOnly),
    outputSchemas: flag('outputSchemas', outputSchemas),
  }
  if (errors.length > 0) refuse('invalid_request', errors)
  return choice
}

/** The headers that the protocol reads. Tokens are not passed on. */
function wanted(headers: IncomingHttpHeaders): Headers {
  const kept = new Headers()
  for (const name of ['accept', 'content-type', 'mcp-protocol-version']) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  return kept
}
