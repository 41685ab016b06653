import { callerOf } from './fixtures.ts'
import { textsOf } from './hostile-places.ts'
import type { HostileWalk, Sent } from './hostile-walk.ts'

/** Requests outside of the operations: pages and protocols that anyone, or an identity provider or a tool, can call. */

const inAddress = (text: string) => encodeURIComponent(text.toWellFormed())
const json = { 'content-type': 'application/json' }

/** Every hostile text at every place of every other surface. */
export async function surfaceRequests(walk: HostileWalk): Promise<{ name: string; sent: Sent }[]> {
  const caller = callerOf(walk.service, walk.organization)
  const { organizationId, token } = walk.organization
  const provisioning = { name: 'Directory', scopes: ['users:provision' as const] }
  const { id: clientId, clientSecret } = await caller.expect(caller.call('createClient', { body: provisioning }))
  const { accountId, activeId } = walk.scene
  const trigger = await caller.expect(caller.call('createTrigger', { accountId, id: activeId, body: { name: 'Job' } }))
  const scim = { authorization: `Bearer ${clientId}.${clientSecret}`, 'content-type': 'application/scim+json' }
  const mcp = { ...json, accept: 'application/json, text/event-stream', authorization: `Bearer ${token}` }
  const get = (path: string, headers: Record<string, string> = {}): Sent => ({ method: 'GET', path, headers })
  const post = (path: string, body: unknown, headers: Record<string, string>, method = 'POST'): Sent => ({
    method,
    path,
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const inHeads: Readonly<Record<string, (text: string) => Sent>> = {
    'sso/callback': (text) => get(`/sso/callback?state=${text}&code=${text}`, { cookie: `a=${text}` }),
    'sso/': (text) => get(`/sso/${text}`),
    'oauth/authorize/': (text) => get(`/oauth/authorize/${text}`),
    'oauth/callback': (text) => get(`/oauth/callback?state=${text}&code=${text}`),
    'connect/': (text) => get(`/connect/${text}?origin=${text}`),
    'docs/guides?q=': (text) => get(`/docs/guides?q=${text}`),
    'docs/connectors/': (text) => get(`/docs/connectors/${text}`),
    'no page': (text) => get(`/${text}?${text}`),
    'scim filter': (text) => get(`/scim/v2/Users?filter=${text}`, scim),
    'scim filter of a value': (text) => get(`/scim/v2/Users?filter=${inAddress('userName eq "')}${text}%22`, scim),
    'scim attributes': (text) => get(`/scim/v2/Users?attributes=${text}&startIndex=${text}`, scim),
    'scim identifier': (text) => get(`/scim/v2/Users/${text}`, scim),
    trigger: (text) => post(`${new URL(trigger.url).pathname}?${text}`, {}, { ...json, 'idempotency-key': 'a' }),
  }
  const inBodies: Readonly<Record<string, (text: string) => Sent>> = {
    'oauth/token': (text) =>
      post('/oauth/token', `grant_type=client_credentials&client_id=${inAddress(text.slice(0, 100_000))}`, {
        'content-type': 'application/x-www-form-urlencoded',
      }),
    'scim user': (userName) =>
      post('/scim/v2/Users', { userName, name: { formatted: userName }, emails: [{ value: userName }] }, scim),
    'scim patch': (path) =>
      post(
        `/scim/v2/Users/${walk.scene.userId}`,
        { Operations: [{ op: 'replace', path, value: path }] },
        scim,
        'PATCH',
      ),
    'scim text': (text) => post('/scim/v2/Users', text, scim),
    'mcp arguments': (text) =>
      post(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: text, arguments: { q: text } } },
        mcp,
      ),
    'mcp text': (text) => post('/mcp', text, mcp),
    'trigger body': (text) => post(new URL(trigger.url).pathname, { eventId: text, eventType: text }, json),
    'sign-in': (text) => post('/es/v2/sign-in', { email: text, password: text, organizationId }, json),
    'text of a body': (text) => post('/es/v2/oauth/client-token', text, json),
  }
  return [
    ...Object.entries(inHeads).flatMap(([name, sent]) =>
      textsOf(1_000).map(({ kind, make }) => ({ name: `${name} ${kind}`, sent: sent(inAddress(String(make()))) })),
    ),
    ...Object.entries(inBodies).flatMap(([name, sent]) =>
      textsOf(150_000).map(({ kind, make }) => ({
        name: `${name} ${kind}`,
        sent: sent(String(make()).toWellFormed()),
      })),
    ),
  ]
}
