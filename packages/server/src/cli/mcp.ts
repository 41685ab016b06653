import { readFile } from 'node:fs/promises'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { type ClientOptions, createClient } from '@penstock/client'
import { limits } from '@penstock/wire'
import { ConfigError } from '../config.ts'
import { createMcpServer } from '../mcp/server.ts'
import { namesIn, whyNoChoice } from '../mcp/tool-sets.ts'

/** `penstock mcp`: a Penstock anywhere, as tools for a program on this machine. */

type Options = { url?: string; credentials?: string; tools?: string; readOnly?: boolean; outputSchemas?: boolean }

/** A message contains the body of a call and its envelope. */
const messageBytesMax = 2 * limits.bodyBytesMax
const callTimeoutMs = 150_000

/**
 * Serves the Model Context Protocol on standard input and output until the input ends. Standard output contains only
 * messages. The credentials are checked first, so that a wrong one is reported here and not with every tool.
 */
export async function serveModels(
  { url, credentials, tools, readOnly, outputSchemas }: Options,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const names = tools === undefined ? undefined : namesIn(tools)
  const wrong = names && whyNoChoice(names)
  if (wrong !== undefined) throw new ConfigError([`--tools ${wrong}.`])
  const choice = { tools: names, readOnly, outputSchemas }
  const baseUrl = readUrl(url ?? env.PENSTOCK_URL)
  const client = createClient({ baseUrl, timeoutMs: callTimeoutMs, ...(await readCredentials(credentials, env)) })
  await client.getMe()
  const scopes = async () => (await client.getMe()).reply.scopes
  const server = createMcpServer({ client, scopes, publicUrl: baseUrl, choice })
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    process.stdin.once('end', resolve)
    process.stdout.once('error', () => resolve())
  })
  await server.connect(new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: messageBytesMax }))
  await ended
  await server.close()
}

function readUrl(url: string | undefined): string {
  const parsed = URL.parse(url ?? '')
  if (parsed && /^https?:$/.test(parsed.protocol)) return parsed.href.replace(/\/+$/, '')
  throw new ConfigError(['--url or PENSTOCK_URL must be where the Penstock is, such as https://penstock.example.com.'])
}

type GivenCredentials = Pick<ClientOptions & { clientId: string; clientSecret: string }, 'clientId' | 'clientSecret'>

/** From a file or the environment, so that no list of processes shows a secret. */
async function readCredentials(
  file: string | undefined,
  { PENSTOCK_CLIENT_ID: clientId, PENSTOCK_CLIENT_SECRET: clientSecret, PENSTOCK_TOKEN: token }: NodeJS.ProcessEnv,
): Promise<GivenCredentials | { token: string }> {
  if (file !== undefined) {
    const given = await readFile(file, 'utf8')
      .then(JSON.parse)
      .catch(() => undefined)
    const { clientId, clientSecret } = (given ?? {}) as Record<string, unknown>
    if (typeof clientId === 'string' && typeof clientSecret === 'string') return { clientId, clientSecret }
    throw new ConfigError(['The file of --credentials must be JSON with clientId and clientSecret.'])
  }
  if (clientId && clientSecret) return { clientId, clientSecret }
  if (token) return { token }
  throw new ConfigError([
    'Credentials are missing: set PENSTOCK_CLIENT_ID and PENSTOCK_CLIENT_SECRET, or PENSTOCK_TOKEN, or use --credentials.',
  ])
}
