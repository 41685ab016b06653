import type { AppliedMappingTemplate } from '@penstock/wire'
import type { Lines } from '../mapping/mapping.ts'
import type { TemplateFinding } from './template-lines.ts'

/** The mapping that is edited, as the dialogs of templates need it. */
export type TemplateTarget = {
  readonly accountId: string
  readonly srcConnectorId: string
  readonly destConnectorId: string
  readonly sourceName: string
  readonly destinationName: string
  /** Whether the destination has fields of its own. */
  readonly hasRecords: boolean
  /** The columns of the source; undefined while they are not known. */
  readonly columns: readonly string[] | undefined
  readonly lines: Lines
  /** The mapping as it would be saved. */
  readonly textFor: (lines: Lines) => string
}

/** A template that was applied, until the step is left. */
export type Applied = {
  readonly name: string
  readonly before: Lines
  readonly after: Lines
  readonly findings: readonly TemplateFinding[]
  readonly losses: AppliedMappingTemplate['losses']
}
