import { ConnectorError } from '../../connector-error.ts'
import type { StoredFile } from '../store.ts'

/** A defect of the content of a workbook that the libraries or this reader found. */
export class WorkbookDamage extends Error {}

/** A workbook that cannot be read: what is wrong, and what to do. */
export const refused = ({ name }: StoredFile, says: string): ConnectorError =>
  new ConnectorError('invalid_file', `${name} ${says}`)

/** A workbook that is damaged. @param cause what was found */
export const damaged = ({ name }: StoredFile, cause: unknown): ConnectorError =>
  new ConnectorError(
    'invalid_file',
    `${name} is a damaged Excel workbook. Open it in a spreadsheet program and save it again.`,
    { cause },
  )
