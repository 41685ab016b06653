/** The version of Criteo's API that is called. */
export const criteoVersion = '2026-07'

/** Criteo supports a stable version for twelve months, and answers 410 afterwards where an endpoint has changed. */
export const criteoApi = {
  version: criteoVersion,
  ends: 'Expected in July 2027: Criteo supports a version for 12 months.',
}
