/** The addresses of the documents, without scheme and host: they hold wherever the service is reached. */
export type Links = ReturnType<typeof createLinks>

/** @param publicUrl where callers reach the service; if it has a path, every address begins with it */
export function createLinks(publicUrl: string) {
  // The address of an interface with a zone is no URL, and has no path.
  const base = (URL.parse(publicUrl)?.pathname ?? '').replace(/\/+$/, '')
  const guide = (slug: string) => `${base}/docs/guides/${slug}`
  const connector = (slug: string) => `${base}/docs/connectors/${slug}`
  return {
    reference: `${base}/docs`,
    skill: `${base}/docs/skill.md`,
    guides: `${base}/docs/guides`,
    guide,
    connectors: `${base}/docs/connectors`,
    connector,
    /** Address at which the target of a link in this folder of `docs/` is served. Undefined if it is not served. */
    ofDocument:
      (folder: string) =>
      (target: string): string | undefined => {
        if (/^(?:https?:|#)/.test(target)) return target
        const { pathname, hash } = new URL(target, `file:///docs/${folder}/`)
        if (pathname === '/docs/connectors/README.md') return `${base}/docs/connectors`
        const [, slug] = /^\/docs\/([\w-]+)\.md$/.exec(pathname) ?? []
        if (slug === undefined) return undefined
        return guide(slug) + hash
      },
    platform: (slug: string) => `${base}/docs/platforms/${slug}`,
    logo: (slug: string) => `${base}/logos/${slug}.svg`,
    /** A picture of the guides, by its path in `docs/`. */
    picture: (path: string) => `${base}/docs/pictures/${path}`,
    asset: (name: string) => `${base}/docs/assets/${name}`,
    /** The console, or the connectors of a sub-account in it. */
    console: (accountId?: string) =>
      accountId === undefined ? `${base}/` : `${base}/accounts/${accountId}/connectors`,
    /** The page of the console that takes over a session after sign-in at an identity provider. */
    signedIn: `${base}/sign-in?single-sign-on`,
    /**
     * Where a person confirms who they are at an identity provider, with the sign-in that they used before. The token is in the
     * fragment, which is not sent to a server.
     */
    confirmSignIn: (token: string) => `${base}/sign-in?confirm#${token}`,
    contract: (path: string) => base + path,
  }
}
