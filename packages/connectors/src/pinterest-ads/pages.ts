import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'

/** A page of a list at Pinterest. */
export const pageOf = (path: string, bookmark?: string): PlatformCall => ({
  path,
  query: { page_size: '250', bookmark },
})

/** The bookmark of the page after it. */
export const nextOf = ({ json }: Answer): string | undefined => textIn(objectIn(json).bookmark)
