import { listOf, type ScimAnswer, type ScimRequest, scimPageMax } from './context.ts'
import { groupSchema } from './groups.ts'
import { userSchema } from './people.ts'

/** Descriptions of the supported parts of SCIM (RFC 7643, sections 5 to 7). */

const attribute = (
  name: string,
  description: string,
  {
    type = 'string',
    multiValued = false,
    required = false,
    mutability = 'readWrite',
    uniqueness = 'none',
    ...more
  } = {},
) => ({
  name,
  type,
  multiValued,
  description,
  required,
  caseExact: false,
  mutability,
  returned: 'default',
  uniqueness,
  ...more,
})
const complex = (name: string, description: string, more: object, subAttributes: readonly object[]) => ({
  ...attribute(name, description, { type: 'complex', ...more }),
  subAttributes,
})
const readOnly = { mutability: 'readOnly' }

const schemas = {
  [userSchema]: {
    name: 'User',
    description: 'Person',
    attributes: [
      attribute('userName', 'E-mail address. The address of an owner cannot be changed', {
        required: true,
        uniqueness: 'server',
      }),
      attribute('displayName', 'Name'),
      complex('name', 'Parts of the name', {}, [
        attribute('formatted', 'The same as displayName'),
        attribute('givenName', 'Given name'),
        attribute('familyName', 'Family name'),
      ]),
      complex('emails', 'The userName', { multiValued: true, ...readOnly }, [
        attribute('value', 'E-mail address', readOnly),
        attribute('type', 'Always work', readOnly),
        attribute('primary', 'Always true', { type: 'boolean', ...readOnly }),
      ]),
      attribute('active', 'Whether the person can sign in', { type: 'boolean' }),
    ],
  },
  [groupSchema]: {
    name: 'Group',
    description: 'Group; its name can give its members a role',
    attributes: [
      attribute('displayName', 'Name', { required: true, uniqueness: 'server' }),
      complex('members', 'People', { multiValued: true }, [
        attribute('value', 'Identifier of the person', { mutability: 'immutable' }),
        attribute('display', 'Name of the person', readOnly),
        attribute('type', 'Always User', readOnly),
      ]),
    ],
  },
}

/** Answers `/ServiceProviderConfig`, `/ResourceTypes` and `/Schemas`. Undefined for other paths. */
export function describeScim({ path: [kind, id] }: ScimRequest, publicUrl: string): ScimAnswer | undefined {
  const metaOf = (resourceType: string, location: string) => ({
    meta: { resourceType, location: `${publicUrl}/scim/v2/${location}` },
  })
  const all: readonly { readonly id: string }[] | undefined =
    kind === 'ResourceTypes'
      ? [
          { name: 'User', schema: userSchema },
          { name: 'Group', schema: groupSchema },
        ].map(({ name, schema }) => ({
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
          id: name,
          name,
          endpoint: `/${name}s`,
          schema,
          ...metaOf('ResourceType', `ResourceTypes/${name}`),
        }))
      : kind === 'Schemas'
        ? Object.entries(schemas).map(([schema, described]) => ({
            schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
            id: schema,
            ...described,
            ...metaOf('Schema', `Schemas/${schema}`),
          }))
        : undefined
  if (all) {
    if (id === undefined) return { status: 200, body: listOf(all, all.length) }
    const one = all.find((described) => described.id === id)
    return one && { status: 200, body: one }
  }
  if (kind !== 'ServiceProviderConfig' || id !== undefined) return undefined
  const body = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    documentationUri: `${publicUrl}/docs/guides/scim`,
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: scimPageMax },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'Client credentials with the scope users:provision: the client ID, a dot, and the client secret',
        primary: true,
      },
    ],
    ...metaOf('ServiceProviderConfig', 'ServiceProviderConfig'),
  }
  return { status: 200, body }
}
