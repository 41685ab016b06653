import { drift } from './drift.ts'
import { labels } from './labels.ts'
import { rules } from './rules.ts'
import { runConditions } from './run-conditions.ts'
import { schedule } from './schedule.ts'

/** All attributes, in the order of files. A new attribute is a file in this folder and a line here. They are set from last to first. */
export const attributes = [schedule, drift, rules, runConditions, labels] as const

export type AnyAttribute = (typeof attributes)[number]

type All<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer Together) => void
  ? Together
  : never

/** Their keys in an entry of a file. */
export type FileAttributes = All<ReturnType<AnyAttribute['write']>>
/** Their values after `parse`. */
export type DesiredAttributes = All<ReturnType<AnyAttribute['parse']>>
