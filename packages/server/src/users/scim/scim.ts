import { identifierPattern } from '@penstock/wire'
import { requireAllAccounts } from '../../access.ts'
import type { Actor } from '../../call.ts'
import { refuse } from '../../refusal.ts'
import type { ScimAnswer, ScimDeps, ScimRequest } from './context.ts'
import { describeScim } from './descriptions.ts'
import { createGroup, listGroups, patchGroup, removeGroup, replaceGroup, showGroup } from './groups.ts'
import { createPerson, listPeople, patchPerson, removePerson, replacePerson, showPerson } from './people.ts'

/** The resources of SCIM 2.0 (RFC 7643, RFC 7644), for identity providers that manage the people of an organization. */

type Handle = (request: ScimRequest, id: string, deps: ScimDeps) => Promise<ScimAnswer>
type Resource = { readonly all: Readonly<Record<string, Handle>>; readonly one: Readonly<Record<string, Handle>> }

const resources: Readonly<Record<string, Resource>> = {
  Users: {
    all: {
      GET: (request, _, deps) => listPeople(request, deps),
      POST: (request, _, deps) => createPerson(request, deps),
    },
    one: { GET: showPerson, PUT: replacePerson, PATCH: patchPerson, DELETE: removePerson },
  },
  Groups: {
    all: {
      GET: (request, _, deps) => listGroups(request, deps),
      POST: (request, _, deps) => createGroup(request, deps),
    },
    one: { GET: showGroup, PUT: replaceGroup, PATCH: patchGroup, DELETE: removeGroup },
  },
}

const wellFormedId = new RegExp(identifierPattern)

/** Refuses with `forbidden` credentials that do not name the scope, or are limited to sub-accounts. */
export function requireProvisioning(actor: Actor): void {
  if (actor.kind !== 'client' || !actor.scopes?.includes('users:provision')) {
    const message =
      'SCIM needs client credentials that name the scope users:provision; those with everything are refused too'
    refuse('forbidden', [{ field: 'scope', message }])
  }
  requireAllAccounts(actor)
}

/** Answers a request. Refuses with `not_found` and `method_not_allowed`, and as the resources do. */
export async function answerScim(request: ScimRequest, deps: ScimDeps): Promise<ScimAnswer> {
  const { method, path } = request
  const [kind = '', id, ...more] = path
  if (more.length > 0) refuse('not_found')
  const described = describeScim(request, deps.publicUrl)
  if (described) return method === 'GET' ? described : refuse('method_not_allowed')
  const resource = Object.hasOwn(resources, kind) ? resources[kind] : undefined
  if (!resource || (id !== undefined && !wellFormedId.test(id))) return refuse('not_found')
  const handlers = id === undefined ? resource.all : resource.one
  const handle = Object.hasOwn(handlers, method) ? handlers[method] : undefined
  return (handle ?? refuse('method_not_allowed'))(request, id ?? '', deps)
}
