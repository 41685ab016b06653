import { Button, FileButton, Loader, Stack, Text } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { type DragEvent, useRef, useState } from 'react'
import { start } from '../strings/start.ts'
import { bytes } from './numbers.ts'
import { ReasonedButton } from './reasoned.tsx'
import classes from './upload-drop.module.css'
import type { Sending } from './use-upload.ts'

const words = start.file

type Props = {
  /** Why no file can be uploaded; undefined if it can. */
  reason: string | undefined
  busy: boolean
  sending: Sending | undefined
  onFile: (file: File) => void
}

/** An area for a file that is dropped. @param mih the least height in pixels */
export function UploadDrop({ reason, busy, sending, onFile, mih = 0 }: Props & { mih?: number }) {
  const [isOver, setIsOver] = useState(false)
  const [problem, setProblem] = useState<string>()
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    if (reason !== undefined || busy) return
    const { items, files } = event.dataTransfer
    const isFolder = items[0]?.webkitGetAsEntry?.()?.isDirectory === true
    const wrong = isFolder ? words.folder : files.length > 1 ? words.one : undefined
    setProblem(wrong)
    const [file] = files
    if (file && !wrong) onFile(file)
  }
  return (
    <Stack
      className={classes.drop}
      mih={mih}
      align="center"
      justify="center"
      gap={4}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      {sending ? <Loader size={24} aria-hidden /> : <IconUpload size={24} aria-hidden />}
      <Text size="sm" fw={600} ta="center" role="status" style={{ overflowWrap: 'anywhere' }}>
        {sending ? words.uploading(sending.name, bytes(sending.sizeBytes)) : isOver ? words.dropNow : words.drop}
      </Text>
      <Text size="xs" c="dimmed" ta="center">
        {words.formats}
      </Text>
      {problem && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      )}
    </Stack>
  )
}

/** Chooses a file, or cancels its upload. */
export function UploadButton({
  reason,
  busy,
  sending,
  onFile,
  label = words.action,
  fullWidth = false,
}: Props & { label?: string; fullWidth?: boolean }) {
  const reset = useRef<() => void>(null)
  if (sending) {
    return (
      <Button variant="default" fullWidth={fullWidth} onClick={sending.cancel}>
        {words.cancel}
      </Button>
    )
  }
  if (reason !== undefined) {
    return (
      <ReasonedButton reason={reason} fullWidth={fullWidth}>
        {label}
      </ReasonedButton>
    )
  }
  return (
    <FileButton
      resetRef={reset}
      onChange={(file) => {
        reset.current?.()
        if (file) onFile(file)
      }}
    >
      {(props) => (
        <Button
          {...props}
          variant="default"
          fullWidth={fullWidth}
          disabled={busy}
          leftSection={<IconUpload size={16} aria-hidden />}
        >
          {label}
        </Button>
      )}
    </FileButton>
  )
}
