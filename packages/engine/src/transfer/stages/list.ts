import { changedRows } from './changed-rows/stage.ts'
import { consent } from './consent/stage.ts'
import { controlGroup } from './control-group/stage.ts'
import { duplicates } from './duplicates/stage.ts'
import { filter } from './filter/stage.ts'
import { mapping } from './mapping/stage.ts'
import { mirror } from './mirror/stage.ts'
import { outcomes } from './outcomes/stage.ts'
import { rejectedKeys } from './rejected-keys/stage.ts'
import { removals } from './removals/stage.ts'
import { repeatedRows } from './repeated-rows/stage.ts'
import { rules } from './rules/stage.ts'
import type { StageKind } from './stage.ts'

/**
 * All stages, in the order in which a row passes them. Before the mapping, rows have the columns of the source. After it, they
 * have the columns of the destination.
 */
export const stages: readonly StageKind[] = [
  filter,
  controlGroup,
  mapping,
  consent,
  removals,
  duplicates,
  rules,
  mirror,
  changedRows,
  repeatedRows,
  rejectedKeys,
  outcomes,
]
