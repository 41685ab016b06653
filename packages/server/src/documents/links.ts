/** The addresses of the documents, without scheme and host: they hold wherever the service is reached. */
export type Links = ReturnType<typeof createLinks>

/** @param publicUrl where callers reach the service; its path, if it has one, begins every address */
export function createLinks(publicUrl: string) {
  const base = new URL(publicUrl).pathname.replace(/\/+$/, '')
  return {
    reference: `${base}/docs`,
    connectors: `${base}/docs/connectors`,
    connector: (slug: string) => `${base}/docs/connectors/${slug}`,
    platform: (slug: string) => `${base}/docs/platforms/${slug}`,
    logo: (slug: string) => `${base}/logos/${slug}.svg`,
    asset: (name: string) => `${base}/docs/assets/${name}`,
    /** The console: the connectors of a sub-account, where one is meant. */
    console: (accountId?: string) =>
      accountId === undefined ? `${base}/` : `${base}/accounts/${accountId}/connectors`,
    /** The page of the console that takes over a session which began at an identity provider. */
    signedIn: `${base}/sign-in?single-sign-on`,
    contract: (path: string) => base + path,
  }
}
