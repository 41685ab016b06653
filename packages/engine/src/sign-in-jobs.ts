/** Jobs in which a person signs in at a platform or an identity provider. */

/** Exchanges the code that a platform returned when a user consented, with the app of the operator. */
export type AuthorizationJob = {
  readonly kind: 'authorization'
  /** The slug of the connector. Its definition contains the address where the code is exchanged. */
  readonly slug: string
  readonly client: { readonly id: string; readonly secret: string }
  readonly code: string
  /** PKCE code verifier; `null` if the platform does not support PKCE. */
  readonly verifier: string | null
  readonly redirectUri: string
  readonly deadlineMs: number
}

/**
 * Asks the identity provider of an organization for its configuration and, with the redirect of a browser, for the identity of
 * the person.
 */
export type SingleSignOnJob = {
  readonly kind: 'single sign-on'
  readonly issuer: string
  readonly client: { readonly id: string; readonly secret: string }
  readonly redirectUri: string
  readonly answer: {
    /** Query parameters of the redirect from the provider. */
    readonly parameters: Readonly<Record<string, string>>
    readonly state: string
    readonly nonce: string
    readonly verifier: string
  } | null
  readonly deadlineMs: number
}
