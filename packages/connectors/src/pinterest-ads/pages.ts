import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { objectIn } from '../platform-api/json.ts'

/** A page of a list at Pinterest. */
export const pageOf = (path: string, bookmark?: string): PlatformCall => ({
  path,
  query: { page_size: '250', bookmark },
})

/** The bookmark of the next page. Null on the last page. */
export const nextOf = ({ json }: Answer): unknown => objectIn(json).bookmark
