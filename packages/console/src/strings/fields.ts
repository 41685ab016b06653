/** What forms say that are drawn from the definitions of a connector's fields. */
export const fields = {}
