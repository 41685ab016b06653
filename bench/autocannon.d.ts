/** The part of autocannon that we use. It has no types. */
declare module 'autocannon' {
  export type Request = { method: string; path: string; headers?: Record<string, string>; body?: string }
  export type Client = { setRequests(requests: readonly Request[]): void }
  export type Result = {
    /** Seconds. */
    duration: number
    requests: { total: number }
    errors: number
    timeouts: number
    non2xx: number
    statusCodeStats: Record<string, { count: number }>
  }
  export default function autocannon(options: {
    url: string
    connections: number
    /** Seconds. */
    duration: number
    /** How often the end of the run is looked for, in milliseconds. */
    sampleInt?: number
    setupClient?: (client: Client) => void
    requests?: readonly Request[]
    workers?: number
  }): Promise<Result>
}
