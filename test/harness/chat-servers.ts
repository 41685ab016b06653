import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Webhooks of Slack and Teams as their documentation describes them: they refuse what the platforms refuse, and keep what
 * they take.
 */
export type ChatServer = {
  readonly url: string
  /** The bodies that it took. */
  readonly messages: Record<string, unknown>[]
  /** Statuses of everything that it answered. */
  readonly statuses: number[]
  /** Requests that were received and not answered. */
  readonly unanswered: Record<string, unknown>[]
  /** The answer instead of a check: a status, a status with headers, or nothing, which leaves the request open. */
  answer: number | { readonly status: number; readonly headers: Record<string, string> } | 'nothing' | undefined
  /** Drops the requests that were not answered. */
  release(): void
  /** The texts of a message, one after another. */
  textOf(message: Record<string, unknown> | undefined): string
}

type Json = Record<string, unknown>
const keysAre = (value: Json, ...allowed: string[]) => {
  for (const key of Object.keys(value)) assert(allowed.includes(key), `unknown key ${key}`)
}
const isText = (value: unknown, lengthMax: number) => {
  assert(typeof value === 'string' && value.length > 0 && value.length <= lengthMax, `no text: ${value}`)
}

const checkSlackText = (text: Json, lengthMax: number, ...types: string[]) => {
  keysAre(text, 'type', 'text', 'emoji', 'verbatim')
  assert(types.includes(String(text.type)))
  if (text.type === 'plain_text') assert(!('verbatim' in text))
  else assert(!('emoji' in text))
  isText(text.text, lengthMax)
}
function checkSlack(body: Json): void {
  keysAre(body, 'text', 'blocks', 'unfurl_links', 'unfurl_media')
  isText(body.text, 40_000)
  const blocks = body.blocks as Json[]
  assert(Array.isArray(blocks) && blocks.length > 0 && blocks.length <= 50)
  for (const block of blocks) {
    if (block.type === 'header') {
      keysAre(block, 'type', 'text')
      checkSlackText(block.text as Json, 150, 'plain_text')
    } else if (block.type === 'section') {
      keysAre(block, 'type', 'text')
      checkSlackText(block.text as Json, 3_000, 'plain_text', 'mrkdwn')
    } else {
      assert.equal(block.type, 'context')
      const elements = block.elements as Json[]
      assert(elements.length > 0 && elements.length <= 10)
      for (const element of elements) checkSlackText(element, 3_000, 'plain_text', 'mrkdwn')
    }
  }
}

/** A workflow that posts a webhook to a channel accepts a message with Adaptive Cards, but no MessageCard of old connectors. */
function checkTeams(body: Json): void {
  keysAre(body, 'type', 'attachments')
  assert.equal(body.type, 'message')
  const [attachment, ...more] = body.attachments as Json[]
  assert(attachment && more.length === 0)
  keysAre(attachment, 'contentType', 'contentUrl', 'content')
  assert.equal(attachment.contentType, 'application/vnd.microsoft.card.adaptive')
  assert.equal(attachment.contentUrl, null)
  const card = attachment.content as Json
  keysAre(card, '$schema', 'type', 'version', 'body', 'actions')
  assert.equal(card.type, 'AdaptiveCard')
  assert.match(String(card.version), /^1\.[0-5]$/)
  for (const element of card.body as Json[]) {
    assert.equal(element.type, 'RichTextBlock')
    keysAre(element, 'type', 'inlines')
    for (const run of element.inlines as Json[]) {
      keysAre(run, 'type', 'text', 'weight', 'size', 'isSubtle')
      assert.equal(run.type, 'TextRun')
      isText(run.text, 5_000)
    }
  }
  for (const action of card.actions as Json[]) {
    keysAre(action, 'type', 'title', 'url')
    assert.equal(action.type, 'Action.OpenUrl')
    assert.match(String(action.url), /^https?:\/\//)
  }
}

const platforms = {
  slack: { check: checkSlack, status: 200, taken: 'ok', path: '/services/T0/B0/secret-of-slack', bytesMax: 1 << 20 },
  teams: {
    check: checkTeams,
    status: 202,
    taken: '',
    path: '/workflows/0/triggers/manual?sig=secret-of-teams',
    bytesMax: 28 << 10,
  },
}

async function startChatServer(
  t: { after(work: () => void): void },
  { check, status, taken, path, bytesMax }: (typeof platforms)['slack' | 'teams'],
): Promise<ChatServer> {
  const answer = async (request: IncomingMessage, body: Buffer): Promise<[number, string]> => {
    try {
      assert.equal(request.method, 'POST')
      assert.equal(request.url, path)
      // Without the charset, Teams has been seen to count the body as UTF-16.
      assert.equal(request.headers['content-type'], 'application/json; charset=utf-8')
      assert(body.length <= bytesMax)
      const message = JSON.parse(body.toString())
      check(message)
      chat.messages.push(message)
      return [status, taken]
    } catch (error) {
      return [400, String(error)]
    }
  }
  const held: (() => void)[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const given = chat.answer
    if (given === 'nothing') {
      held.push(() => response.writeHead(status).end(taken))
      return void chat.unanswered.push(JSON.parse(body.toString()))
    }
    const { status: refused, headers = {} } = typeof given === 'number' ? { status: given } : (given ?? {})
    const [code, text] = refused === undefined ? await answer(request, body) : [refused, 'no_service']
    chat.statuses.push(code)
    response.writeHead(code, { 'content-type': 'text/plain', ...headers }).end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const chat: ChatServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    messages: [],
    statuses: [],
    unanswered: [],
    answer: undefined,
    release: () => {
      for (const take of held.splice(0)) take()
    },
    textOf: (message) => textsIn(message).join('\n'),
  }
  return chat
}

const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) =>
          /^(?:type|\$schema|contentType)$/.test(key) ? [] : textsIn(inner),
        )
      : []

export const startSlack = (t: { after(work: () => void): void }) => startChatServer(t, platforms.slack)
export const startTeams = (t: { after(work: () => void): void }) => startChatServer(t, platforms.teams)
