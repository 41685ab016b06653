import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/** An API as many are: each of its paths answers about rows in another way. */
export type DescribedApi = PlatformServer & {
  /** People by their e-mail addresses, as they were sent. */
  readonly people: Map<string, Record<string, unknown>>
  readonly lists: { id: string; name: string }[]
  readonly idempotencyKeys: string[]
  reset(): void
}

export const apiToken = 'canary-of-the-described-api'

type Person = Record<string, unknown>
const isGood = ({ email }: Person) => String(email).includes('@')
const peopleIn = ({ json }: Received): Person[] => (json as { people?: Person[] }).people ?? []

/** Starts it on a free port. */
export async function startDescribedApi(): Promise<DescribedApi> {
  const people = new Map<string, Person>()
  const lists: DescribedApi['lists'] = [{ id: 'l-1', name: 'Other' }]
  const idempotencyKeys: string[] = []
  const jobs = new Map<string, Person[]>()
  const take = (some: readonly Person[]) => {
    for (const one of some) if (isGood(one)) people.set(String(one.email), one)
  }
  const answers: Readonly<Record<string, (received: Received) => Reply>> = {
    // Names what it refuses by number, and takes the others.
    'POST /v1/by-index': (received) => {
      const all = peopleIn(received)
      take(all)
      const errors = all.flatMap((one, index) =>
        isGood(one) ? [] : [{ index, type: `no address: ${one.email}`, path: 'email' }],
      )
      return { status: 201, json: { message: 'success', errors } }
    },
    // Has a result for each, in their order.
    'POST /v1/in-order': (received) => {
      const all = peopleIn(received)
      take(all)
      return { json: { results: all.map((one) => (isGood(one) ? { status: 'ok' } : { status: 'error', why: 'bad' })) } }
    },
    // Repeats the address of what it refuses.
    'POST /v1/by-key': (received) => {
      const all = peopleIn(received)
      idempotencyKeys.push(String(received.headers['idempotency-key']))
      take(all)
      return {
        json: { failed: all.filter((one) => !isGood(one)).map(({ email }) => ({ email, reason: 'no address' })) },
      }
    },
    // Refuses the whole request because of one, and says which.
    'POST /v1/all-or-nothing': (received) => {
      const all = peopleIn(received)
      const bad = all.findIndex((one) => !isGood(one))
      if (bad >= 0) return { status: 422, json: { detail: [{ row: bad + 1, message: 'no address' }] } }
      take(all)
      return { json: {} }
    },
    // Refuses it and says nothing.
    'POST /v1/mute': (received) => {
      const all = peopleIn(received)
      if (!all.every(isGood)) return { status: 400, json: { message: 'One of them has no address' } }
      take(all)
      return { status: 204, text: '' }
    },
    'POST /v1/lines': (received) => {
      const all = received.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Person)
      if (received.headers['content-type'] !== 'application/x-ndjson') return { status: 415 }
      take(all)
      return { json: { accepted: all.filter(isGood).length } }
    },
    'POST /v1/jobs': (received) => {
      const id = `j${jobs.size + 1}`
      jobs.set(id, peopleIn(received))
      return { status: 202, json: { job: { id } } }
    },
    'GET /v1/lists': () => ({ json: { data: lists } }),
    'POST /v1/lists': ({ json }) => {
      const made = { id: `l-${lists.length + 1}`, name: String((json as { name: string }).name) }
      lists.push(made)
      return { status: 201, json: made }
    },
  }
  let asked = 0
  const server = await startPlatform((received) => {
    const { method, path, headers } = received
    if (headers.authorization !== `Bearer ${apiToken}`) return { status: 401, json: { message: headers.authorization } }
    const known = answers[`${method} ${path}`]
    if (known) return known(received)
    const [, list] = /^\/v1\/lists\/([^/]+)\/people$/.exec(path) ?? []
    if (list && method === 'POST') {
      if (!lists.some(({ id }) => id === list)) return { status: 404 }
      take(peopleIn(received).map((one) => ({ ...one, list })))
      return { json: {} }
    }
    const [, email] = /^\/v1\/people\/([^/]+)$/.exec(path) ?? []
    if (email && (method === 'PUT' || method === 'DELETE')) {
      const address = decodeURIComponent(email)
      if (method === 'DELETE') people.delete(address)
      else if (!address.includes('@')) return { status: 422, json: { message: 'no address' } }
      else people.set(address, received.json as Person)
      return { status: 204, text: '' }
    }
    const [, job] = /^\/v1\/jobs\/([^/]+)$/.exec(path) ?? []
    if (job && method === 'GET') {
      const all = jobs.get(job)
      if (!all) return { status: 404 }
      // The first question comes too early.
      if (++asked % 2 === 1) return { json: { state: 'running' } }
      take(all)
      const errors = all.flatMap((one, index) => (isGood(one) ? [] : [{ index, message: 'no address' }]))
      return { json: { state: 'complete', errors } }
    }
    return { status: 404, json: { message: 'nothing here' } }
  })
  return Object.assign(server, {
    people,
    lists,
    idempotencyKeys,
    reset() {
      people.clear()
      jobs.clear()
      idempotencyKeys.length = 0
      lists.splice(1)
      asked = 0
    },
  })
}
