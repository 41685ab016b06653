import { asConnectorError, ConnectorError, type ConnectorErrorCode } from '@penstock/connector'

/**
 * Converts an error of the file system to a connector error. Returns other errors unchanged.
 * @param what the beginning of a sentence: `The folder`
 */
export function asDiskError(error: unknown, what: string): unknown {
  if (asConnectorError(error) || !(error instanceof Error)) return error
  const { code } = error as NodeJS.ErrnoException
  const make = (name: ConnectorErrorCode, sentence: string) =>
    new ConnectorError(name, `${what} ${sentence}`, { cause: error })
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
    case 'ENAMETOOLONG':
    case 'EISDIR':
      return make('object_not_found', 'is not there. Make it, or name another one.')
    case 'EACCES':
    case 'EPERM':
      return make('permission_denied', 'may not be used by the user that this service runs as. Permit it.')
    case 'EROFS':
      return make('permission_denied', 'cannot be written: its disk is mounted for reading only.')
    case 'ENOSPC':
    case 'EDQUOT':
      return make('disk_full', 'cannot be written: its disk is full. Free some space, then start another transfer.')
    case 'EFBIG':
      return make('disk_full', 'cannot be written: its disk takes no file of this size.')
    case 'EIO':
    case 'EMFILE':
    case 'ENFILE':
    case 'EBUSY':
    case 'EAGAIN':
    case 'ESTALE':
    case 'ETIMEDOUT':
      return make('platform_unavailable', `cannot be used right now (${code}).`)
    default:
      return error
  }
}
