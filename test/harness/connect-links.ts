import type { BodyOf, ReplyOf } from '@penstock/wire'
import { type Caller, source } from './fixtures.ts'
import type { TestService } from './service.ts'

/** Connect links, as tests make and use them. */

/** Creates a link for a connector of a sub-account. */
export const createLink = (
  { call, expect }: Pick<Caller, 'call' | 'expect'>,
  accountId: string,
  body: Partial<BodyOf<'createConnectLink'>> = {},
): Promise<ReplyOf<'createConnectLink'>> =>
  expect(call('createConnectLink', { body: { accountId, connectorIds: [source.id], ...body } }))

/** The part of a link after #. */
export const tokenOf = ({ url }: { url: string }): string => new URL(url).hash.slice(1)

/** Another network address than any before, behind a proxy that is trusted: guesses are counted by the address. */
export const anAddress = (): Record<string, string> => ({
  'x-forwarded-for': `fd00::${(++addresses).toString(16)}:0:0:0:1`,
})
let addresses = 0

/** Opens a link. Returns the token of its page. */
export async function openLink({ call }: Pick<TestService, 'call'>, link: { url: string }): Promise<string> {
  const reply = await call('openConnectPage', { body: { token: tokenOf(link) }, headers: anAddress() })
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.response.accessToken
}
