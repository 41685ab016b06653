/** The addresses of the documents, without scheme and host: they hold wherever the service is reached. */
export type Links = ReturnType<typeof createLinks>

/** @param publicUrl where callers reach the service; its path, if it has one, begins every address */
export function createLinks(publicUrl: string) {
  const base = new URL(publicUrl).pathname.replace(/\/+$/, '')
  const guide = (slug: string) => `${base}/docs/guides/${slug}`
  const connector = (slug: string) => `${base}/docs/connectors/${slug}`
  return {
    reference: `${base}/docs`,
    guides: `${base}/docs/guides`,
    guide,
    connectors: `${base}/docs/connectors`,
    connector,
    /** Where that is served which a document in this folder of `docs/` links to; undefined where it is not served. */
    ofDocument:
      (folder: string) =>
      (target: string): string | undefined => {
        if (/^(?:https?:|#)/.test(target)) return target
        const { pathname, hash } = new URL(target, `file:///docs/${folder}/`)
        const [, inConnectors, slug] = /^\/docs\/(connectors\/)?([\w-]+)\.md$/.exec(pathname) ?? []
        if (slug === undefined) return undefined
        if (inConnectors) return slug === 'README' ? `${base}/docs/connectors` : connector(slug) + hash
        return guide(slug) + hash
      },
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
