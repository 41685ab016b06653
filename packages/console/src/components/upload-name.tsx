import { Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { uploadedFileConnectorId } from '@penstock/wire'
import { useRead } from '../api/queries.ts'
import { components as say } from '../strings/components.ts'
import { Time } from './time.tsx'

const identifier = /^[0-9a-f]{16}$/

/** Whether a value of a setting is the identifier of an uploaded file. */
export const isUpload = (connectorId: string, value: unknown): value is string =>
  connectorId === uploadedFileConnectorId && typeof value === 'string' && identifier.test(value)

/** An uploaded file by its name, with the time when it is deleted. */
export function UploadName({ accountId, id }: { accountId: string; id: string }) {
  const { data, error } = useRead('getUpload', { accountId, id })
  if (data) {
    return (
      <>
        {data.reply.name}{' '}
        <Text span inherit c="dimmed">
          {say.deletedAt} <Time seconds={data.reply.expiresTime} planned />
        </Text>
      </>
    )
  }
  if (error instanceof PenstockError && error.status === 404) return say.deletedFile
  return error ? id : '…'
}
