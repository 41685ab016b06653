import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/*
 * A platform as a table of routes. `README.md` beside this file explains how to write one.
 */

/** A request, and the parts of its path that its route names. */
export type Asked = Received & {
  /** The parts of the path, still encoded, by their names in the pattern. */
  readonly params: Readonly<Record<string, string>>
  /** The body as a JSON object; empty if the body is something else. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The refusal of a request that lacks something; `undefined` if the request has it. */
export type Demand = (asked: Asked) => Reply | undefined

/** The answer of a route: always the same, or a function of the request. */
export type Route = Reply | ((asked: Asked) => Reply)

/**
 * Routes by method and path: `POST /v1/lists/{list}/members`. `{list}` is one part of the path, and `{list:\d+}` one of this form. The
 * first route that matches counts, so that a fixed path comes before a named part.
 */
export type Routes = Readonly<Record<string, Route>>

export type Platform = {
  /** Routes that need no sign-in, such as the token endpoint and `GET /`. */
  readonly open: Routes
  /** The demands on every other request, in the order in which the platform checks them. The first refusal is the answer. */
  readonly demands: readonly Demand[]
  readonly routes: Routes
  /** The answer to a request that no route matches. */
  readonly unknown: Reply | ((asked: Asked) => Reply)
}

/**
 * Runs a platform on a free port.
 * @param state what tests see and change: added to the server as properties, without getters
 */
export async function startRoutes<State extends object>(
  { open, demands, routes, unknown }: Platform,
  state: State,
): Promise<PlatformServer & State> {
  const [first, then] = [compile(open), compile(routes)]
  const server = await startPlatform((received) => {
    const { json } = received
    const body = typeof json === 'object' && json !== null && !Array.isArray(json) ? json : {}
    const asked: Asked = { ...received, params: {}, body: body as Asked['body'] }
    const opened = answerOf(first, asked)
    if (opened) return opened
    for (const demand of demands) {
      const refused = demand(asked)
      if (refused) return refused
    }
    return answerOf(then, asked) ?? (typeof unknown === 'function' ? unknown(asked) : unknown)
  })
  return Object.assign(server, state)
}

type Compiled = readonly { readonly pattern: RegExp; readonly route: Route }[]

const compile = (routes: Routes): Compiled =>
  Object.entries(routes).map(([address, route]) => {
    const parts = address.split(/\{(\w+)(?::((?:[^{}]|\{\d+\})+))?\}/)
    const pattern = parts.map((part, at) => {
      if (at % 3 === 0) return part.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
      return at % 3 === 1 ? `(?<${part}>${parts[at + 1] ?? '[^/]+'})` : ''
    })
    return { pattern: new RegExp(`^${pattern.join('')}$`), route }
  })

function answerOf(routes: Compiled, asked: Asked): Reply | undefined {
  for (const { pattern, route } of routes) {
    const found = pattern.exec(`${asked.method} ${asked.path}`)
    if (found) return typeof route === 'function' ? route({ ...asked, params: { ...found.groups } }) : route
  }
  return undefined
}

/** Demands a header. @param value its value, or the form of it */
export const header =
  (name: string, value: string | RegExp, refusal: Reply): Demand =>
  ({ headers }) => {
    const given = String(headers[name] ?? '')
    return (typeof value === 'string' ? given === value : value.test(given)) ? undefined : refusal
  }

/** Demands that requests with a body have it as JSON. */
export const jsonBodies =
  (refusal: Reply): Demand =>
  ({ method, headers }) =>
    method === 'GET' || method === 'DELETE' || headers['content-type'] === 'application/json' ? undefined : refusal

/** Demands a part of the path, such as the account that the token is for. Other paths pass. @param part a pattern with one group */
export const onlyAt =
  (part: RegExp, known: string, refusal: Reply): Demand =>
  ({ path }) => {
    const [, given] = part.exec(path) ?? []
    return given === undefined || given === known ? undefined : refusal
  }

/** A route of one of the entities: the one whose ID is the part `{id}` of the path. @param missing the answer if no entity has it */
export const entityRoute =
  <Entity extends { readonly id: string }>(
    entities: readonly Entity[],
    missing: Reply,
    answer: (entity: Entity, asked: Asked) => Reply,
  ): Route =>
  (asked) => {
    const entity = entities.find(({ id }) => id === asked.params.id)
    return entity ? answer(entity, asked) : missing
  }

/** A page of a list. Pages have two entries at most, so that there are several. @param at the place of the first one */
export function pageOf<Item>(
  items: readonly Item[],
  at: unknown,
  sizeMax: number = 2,
): { readonly page: Item[] /** The place behind the page; `undefined` on the last page. */; readonly next?: number } {
  const start = Number(at ?? 0)
  const end = start + sizeMax
  return { page: items.slice(start, end), ...(end < items.length && { next: end }) }
}

/** Whether an object has no keys but these, which are separated by white space. */
export function hasOnly(object: object, keys: string): boolean {
  const known = keys.split(/\s+/)
  return Object.keys(object).every((key) => known.includes(key))
}

/** Adds members to an audience, or removes them. */
export function changeMembers(members: Set<string>, adds: boolean, changed: Iterable<string>): void {
  for (const one of changed) {
    if (adds) members.add(one)
    else members.delete(one)
  }
}

/** Keeps an event unless one with this key is there: platforms keep the first of events with the same ID. */
export function keepFirst<Event>(events: Map<string, Event>, key: unknown, event: Event): void {
  const text = typeof key === 'string' ? key : JSON.stringify(key)
  if (!events.has(text)) events.set(text, event)
}
