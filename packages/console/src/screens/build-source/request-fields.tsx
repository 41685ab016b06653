import { Group, Select, Text } from '@mantine/core'
import { buildSource as say } from '../../strings/build-source.ts'
import { CodeInput } from './code-input.tsx'
import { KeyValues } from './key-values.tsx'
import type { EditPart, PartSettings } from './use-parts.ts'

/** Method, path, parameters and headers of the request of a stream or an operation. */
export function RequestFields({
  name,
  part,
  url,
  methods,
  method,
  templates,
  edit,
}: {
  name: string
  part: PartSettings
  /** The address of the API, to which the path is added. */
  url: string
  /** The first one is the default of the definition. */
  methods: readonly string[]
  method: string
  /** Which names the values can contain. */
  templates: string
  edit: EditPart
}) {
  return (
    <>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <Select
          size="xs"
          w={92}
          label={say.method}
          data={[...methods]}
          value={method}
          allowDeselect={false}
          onChange={(next) => edit.set(['method'], next === methods[0] ? undefined : next)}
        />
        <CodeInput
          label={say.path}
          description={say.pathHelp(url)}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={String(part.path ?? '')}
          style={{ flex: 1, minWidth: 0 }}
          onChange={(text) => edit.set(['path'], text)}
        />
      </Group>
      <KeyValues
        key={`query of ${name}`}
        label={say.query}
        add={say.addParameter}
        values={part.query}
        onChange={(entries) => edit.setEntries(['query'], entries)}
      />
      <KeyValues
        key={`headers of ${name}`}
        label={say.headers}
        add={say.addHeader}
        values={part.headers}
        onChange={(entries) => edit.setEntries(['headers'], entries)}
      />
      <Text size="xs" c="dimmed">
        {templates}
      </Text>
    </>
  )
}
