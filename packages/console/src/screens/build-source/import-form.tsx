import { Button, FileButton, Textarea, TextInput } from '@mantine/core'
import { type ImportedOperation, ImportRefused, importOperation } from '@penstock/wire/import-operation'
import { useState } from 'react'
import { FormDialog } from '../../components/form-dialog.tsx'
import { mono } from '../../components/mono.ts'
import { buildOperation as say } from '../../strings/build-operation.ts'
import { placeIn, readText } from './definition-text.ts'

/** Characters of a document. */
const lengthMax = 4 << 20

/** Begins an operation from OpenAPI, or from the JSON Schema of a body. */
export function ImportForm({
  names,
  onImport,
  onClose,
}: {
  /** The names of the operations that there are. */
  names: readonly string[]
  onImport: (imported: ImportedOperation) => void
  onClose: () => void
}) {
  const [text, setText] = useState('')
  const [wanted, setWanted] = useState('')
  const [wrong, setWrong] = useState<string>()
  const change = (next: string) => {
    setText(next)
    setWrong(undefined)
  }
  const submit = async () => {
    const imported = readOperation(text, wanted)
    if (typeof imported === 'string') return void setWrong(imported)
    let { name } = imported
    for (let number = 2; names.includes(name); number++) name = `${imported.name} ${number}`
    onImport({ ...imported, name })
    onClose()
    return imported.notes.length === 0
      ? say.imported(name)
      : { title: say.imported(name), message: imported.notes.join(' ') }
  }
  return (
    <FormDialog
      title={say.importOperation}
      action={say.importIt}
      size="lg"
      invalid={{ text: text.trim() === '' && say.documentMissing }}
      onSubmit={submit}
      onClose={onClose}
    >
      <Textarea
        label={say.document}
        description={say.documentHelp}
        value={text}
        error={wrong}
        rows={10}
        wrap="off"
        spellCheck={false}
        autoComplete="off"
        styles={{ input: { ...mono.input, fontSize: 'var(--mantine-font-size-xs)' } }}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
      <FileButton accept=".json,.yaml,.yml" onChange={async (file) => change((await file?.text()) ?? '')}>
        {(button) => (
          <Button {...button} size="xs" variant="default" style={{ alignSelf: 'flex-start' }}>
            {say.chooseFile}
          </Button>
        )}
      </FileButton>
      <TextInput
        label={say.wantedOperation}
        description={say.wantedOperationHelp}
        value={wanted}
        autoComplete="off"
        spellCheck={false}
        onChange={({ currentTarget }) => {
          setWanted(currentTarget.value)
          setWrong(undefined)
        }}
      />
    </FormDialog>
  )
}

/** The operation of a document, or why it cannot be imported, with its line and column. */
function readOperation(text: string, wanted: string): ImportedOperation | string {
  if (text.length > lengthMax) return say.documentLong
  const read = readText(text)
  if (read.textError) return `${say.wrongPlace(read.textError)} ${read.textError.message}`
  try {
    return importOperation(read.value, wanted)
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error
    return `${say.wrongPlace(placeIn(text, error.place))} ${error.message}`
  }
}
