/**
 * The site that shows this page in a frame, or has opened it in a window. It learns what happens, and no secret; only where its
 * origin is one that the organization allows, and only at exactly that origin, which the browser enforces.
 */

export type PageEvent =
  | { readonly type: 'opened' | 'cancelled' }
  | { readonly type: 'configured' | 'declined'; readonly connectorId: string }
  | {
      readonly type: 'failed'
      readonly reason: 'check_failed' | 'authorization_failed'
      readonly connectorId: string
    }
  | { readonly type: 'failed'; readonly reason: 'link_invalid' | 'link_expired' }
  | { readonly type: 'completed'; readonly connectionId?: string }

const isFramed = window.parent !== window
const site: Window | null = isFramed ? window.parent : window.opener
const idOfLink = /\/connect\/([0-9a-f]{16})$/.exec(window.location.pathname)?.[1] ?? ''
const [tokenOfLink = '', ...parameters] = window.location.hash.slice(1).split('&')
/** The site reports its origin. In a frame, the browser reports it too. */
const claimed =
  new URLSearchParams(parameters.join('&')).get('origin') ?? (isFramed ? window.location.ancestorOrigins?.[0] : null)
const storageKey = `penstock.connect.${idOfLink}`

let target: string | undefined

/** Parameters of the address. */
export const link = { id: idOfLink, token: tokenOfLink }

/** Whether there is someone who hears how it ends, and so closes this page. */
export const isHeard = (): boolean => site !== null && target !== undefined

/** Takes the origins that the organization allows. */
export function allow(origins: readonly string[]): void {
  target = site && claimed && origins.includes(claimed) ? claimed : undefined
}

/** The browser shows this page in no frame of a site that is not allowed, so one that has it may hear that the link is not valid. */
export function allowFrame(): void {
  target = isFramed && claimed && URL.parse(claimed)?.origin === claimed ? claimed : undefined
}

export function report(event: PageEvent): void {
  if (site && target) site.postMessage({ source: 'penstock-connect', connectLinkId: link.id, ...event }, target)
}

/** The token of the open page, kept for this tab alone so that a reload loses nothing. A frame may have no storage. */
export const pageToken = {
  read(): string | null {
    try {
      return sessionStorage.getItem(storageKey)
    } catch {
      return null
    }
  },
  write(token: string): void {
    window.history.replaceState(null, '', window.location.pathname)
    try {
      sessionStorage.setItem(storageKey, token)
    } catch {}
  },
  remove(): void {
    try {
      sessionStorage.removeItem(storageKey)
    } catch {}
  },
}
