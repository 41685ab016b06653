import { audiences } from './audiences.ts'
import { databases } from './databases.ts'
import { events } from './events.ts'
import { files } from './files.ts'
import { reports } from './reports.ts'

/** Every connector that reaches a platform, in the table of its kind. A test file names the tables that it looks at. */
export const tables = { files, databases, audiences, events, reports } as const

export type TableName = keyof typeof tables
