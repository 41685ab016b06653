import type { Erasure, PersonIdentifierKind, Values } from '@penstock/connector'

/** How a platform erases a person, as the section `erasure` of a definition of HTTP API (`docs/http-api-destination.md`). */
export type DescribedErasure = Pick<Erasure, 'what'> & {
  /** The address and the credentials of requests, as fields of HTTP API. */
  readonly server: (secrets: Values) => { readonly url: string } & Values
  readonly pace?: object
  readonly requests: Readonly<Partial<Record<PersonIdentifierKind, object>>>
}

/** Makes the erasure of a connector. @param name of the platform, for messages */
export const describedErasure = (name: string, { what, server, pace, requests }: DescribedErasure): Erasure => ({
  what,
  by: () => Object.keys(requests) as PersonIdentifierKind[],
  open: async (context) =>
    (await import('../http-api/sending/erase.ts')).openErasure({
      ...context,
      secrets: { ...server(context.secrets), apiName: name, definition: JSON.stringify({ erasure: requests, pace }) },
    }),
})
