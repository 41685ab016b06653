import type { Sample, SampleObstacle } from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import { sampleTable } from './provision.ts'
import type { SampleRow } from './queries.ts'

/** A sample as the API returns it. @param row undefined: the sub-account has no sample */
export const viewSample = (row: SampleRow | undefined, obstacle: SampleObstacle | null): Sample => ({
  available: obstacle === null,
  obstacle,
  connectionId: row?.connectionId ?? null,
  transferId: row?.transferId ?? null,
  database: row?.database ?? null,
  table: row ? sampleTable : null,
  createdTime: row ? unixSeconds(row.createdTime) : null,
})
