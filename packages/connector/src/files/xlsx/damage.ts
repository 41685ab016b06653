import { ConnectorError } from '../../connector-error.ts'
import type { StoredFile } from '../store.ts'

/** A defect of the content of a workbook that the libraries or this reader found. */
export class WorkbookDamage extends Error {}

/** A workbook that cannot be read, with the reason and advice. */
export const refused = ({ name }: StoredFile, says: string): ConnectorError =>
  new ConnectorError('invalid_file', `${name} ${says}`)

/** A workbook that is damaged. @param cause the problem that was found */
export const damaged = ({ name }: StoredFile, cause: unknown): ConnectorError =>
  new ConnectorError(
    'invalid_file',
    `${name} is a damaged Excel workbook. Open it in a spreadsheet program and save it again.`,
    { cause },
  )
