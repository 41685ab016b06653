/** Names of Google Cloud, as settings contain them. */

/** Whether a text is the resource name of a provider of a workload identity pool. */
export const isProvider = (text: string): boolean =>
  /^projects\/\d{1,20}\/locations\/global\/workloadIdentityPools\/[a-z0-9-]{4,32}\/providers\/[a-z0-9-]{4,32}$/.test(
    text,
  )

/** Whether a text is the address of a service account. */
export const isServiceAccount = (text: string): boolean =>
  /^[a-z0-9][a-z0-9-]{0,62}@[a-z0-9][a-z0-9.-]{0,100}\.gserviceaccount\.com$/.test(text)
