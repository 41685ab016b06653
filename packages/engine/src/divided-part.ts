import type { Division } from '@penstock/connector'

/** A part of a source, as the supervisor stores it for the workers. */
export type DividedPart = Division['parts'][number]
