import type { Row } from '@penstock/connector'
import type { PlatformClient } from '../../platform-api/client.ts'
import type { RestApi } from '../api.ts'
import type { ReadFacts } from '../report-facts.ts'
import type { CellReader } from './report-cells.ts'
import type { ReportPlan } from './report-plan.ts'

/** Where reading resumes in a report: in a running job, on one of its pages, after a number of rows. */
export type ReportPosition = {
  readonly job?: string | undefined
  readonly cursor?: string | undefined
  readonly skip?: number | undefined
  /** The parts that are being read, and the last one that was read before. */
  readonly ids?: readonly string[] | undefined
  readonly after?: string | undefined
}

/** Rows of a report. @param next where reading resumes; `undefined` after its last row */
export type ReportPiece = {
  readonly rows: readonly Row[]
  readonly bytes: number
  readonly next: ReportPosition | undefined
}

/** All that reading reports needs. */
export type ReportReading = {
  readonly facts: ReadFacts
  readonly api: RestApi
  readonly client: PlatformClient
  readonly plan: ReportPlan
  readonly cells: CellReader
}
