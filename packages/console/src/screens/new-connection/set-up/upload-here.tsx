import { Stack } from '@mantine/core'
import type { Upload } from '@penstock/wire'
import { useState } from 'react'
import { useForbidden } from '../../../api/me.ts'
import { Failure } from '../../../components/failure.tsx'
import { UploadButton, UploadDrop } from '../../../components/upload-drop.tsx'
import { isCancelled, useUpload } from '../../../components/use-upload.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { useWizard } from '../wizard.ts'

/** Uploads a file without leaving the wizard. @param compact only the button */
export function UploadHere({
  compact = false,
  onUploaded,
}: {
  compact?: boolean
  onUploaded: (upload: Upload) => Promise<void> | void
}) {
  const { accountId } = useWizard()
  const reason = useForbidden('createUpload')
  const { sending, send } = useUpload()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const onFile = async (file: File) => {
    setFailure(undefined)
    setBusy(true)
    try {
      await onUploaded(await send(accountId, file, file.name))
    } catch (error) {
      if (!isCancelled(error)) setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  const upload = { reason, busy, sending, onFile: (file: File) => void onFile(file) }
  return (
    <Stack gap="xs" align={compact ? 'flex-start' : 'stretch'}>
      {!compact && (
        // The area fills its parent, which is as high as it.
        <div>
          <UploadDrop {...upload} />
        </div>
      )}
      <UploadButton {...upload} label={say.uploadFile} fullWidth={!compact} />
      {failure !== undefined && <Failure error={failure} />}
    </Stack>
  )
}
