import { Alert, Button, Stack, Text, Textarea } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { mono } from '../../components/mono.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import classes from './build-source.module.css'
import { offsetOf, type TextError } from './definition-text.ts'
import { Panel } from './panel.tsx'

/** An error of the text, at its line and column. */
export function TextErrorAlert({ textError, onShow }: { textError: TextError; onShow: () => void }) {
  const { line, column, message } = textError
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={say.wrongAt(line, column)} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{message}</Text>
        <Button size="compact-sm" variant="default" onClick={onShow}>
          {say.showPlace}
        </Button>
      </Stack>
    </Alert>
  )
}

/** The text of the definition. */
export function TextPanel({
  text,
  textError,
  shown,
  onChange,
}: {
  text: string
  textError: TextError | undefined
  /** Changes whenever the place of the error must be shown. */
  shown: number
  onChange: (text: string) => void
}) {
  const area = useRef<HTMLTextAreaElement>(null)
  const latest = useRef({ text, textError })
  latest.current = { text, textError }
  useEffect(() => {
    const { text, textError } = latest.current
    if (shown === 0 || !textError || !area.current) return
    const at = offsetOf(text, textError)
    area.current.focus()
    area.current.setSelectionRange(at, Math.min(text.length, at + 1))
    const lineHeight = area.current.scrollHeight / Math.max(1, text.split('\n').length)
    area.current.scrollTop = Math.max(0, (textError.line - 4) * lineHeight)
  }, [shown])
  return (
    <Panel step={1} title={say.definition} className={classes.text}>
      <Textarea
        ref={area}
        aria-label={say.definition}
        description={say.definitionHelp}
        value={text}
        error={textError && say.wrongAt(textError.line, textError.column)}
        rows={28}
        wrap="off"
        spellCheck={false}
        autoComplete="off"
        styles={{ input: { ...mono.input, fontSize: 'var(--mantine-font-size-xs)' } }}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </Panel>
  )
}
