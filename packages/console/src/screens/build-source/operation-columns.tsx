import { ActionIcon, Button, Checkbox, Group, Select, Table, Text } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { namesIn } from '../../components/fields/discovery.ts'
import { buildOperation as say } from '../../strings/build-operation.ts'
import { isObject } from './answer-json.ts'
import classes from './build-source.module.css'
import { CodeInput } from './code-input.tsx'
import { CommaList } from './comma-list.tsx'
import { Panel } from './panel.tsx'
import type { EditPart, PartSettings } from './use-parts.ts'

const types = Object.entries(say.types).map(([value, label]) => ({ value, label }))

/** The columns of an operation by their names, each as an object. */
export function columnsOf(operation: PartSettings): Readonly<Record<string, PartSettings>> {
  const columns = isObject(operation.columns) ? operation.columns : {}
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, isObject(column) ? column : { type: column ?? 'text' }]),
  )
}

/** The columns of an operation, with their types. */
export function OperationColumns({ operation, edit }: { operation: PartSettings; edit: EditPart }) {
  const columns = columnsOf(operation)
  const [typed, setTyped] = useState('')
  const [tried, setTried] = useState(false)
  const added = namesIn(typed).filter((name) => !Object.hasOwn(columns, name))
  const wrong = added.some((name) => !/^[A-Za-z_][\w-]{0,99}$/.test(name))
  // A column that has only a type is its type.
  const change = (name: string, changes: PartSettings) => {
    const next = Object.entries({ ...columns[name], ...changes }).filter(
      ([, value]) => value !== undefined && value !== false,
    )
    const [only] = next
    edit.set(['columns', name], next.length === 1 && only?.[0] === 'type' ? only[1] : Object.fromEntries(next))
  }
  return (
    <Panel step={2} title={say.columns}>
      <Text size="xs" c="dimmed">
        {say.columnsHelp}
      </Text>
      {Object.keys(columns).length > 0 && (
        <Table.ScrollContainer minWidth={360} className={classes.columns}>
          <Table fz="xs" verticalSpacing={4} aria-label={say.columns}>
            <Table.Thead>
              <Table.Tr>
                {[say.column, say.type, say.required, say.identifies].map((title) => (
                  <Table.Th key={title}>{title}</Table.Th>
                ))}
                <Table.Td />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {Object.entries(columns).map(([name, column]) => (
                <Table.Tr key={name}>
                  <Table.Th scope="row" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                    {name}
                  </Table.Th>
                  <Table.Td>
                    <Select
                      size="xs"
                      aria-label={say.typeOf(name)}
                      data={types}
                      value={String(column.type ?? 'text')}
                      allowDeselect={false}
                      onChange={(type) => change(name, { type, values: undefined, unit: undefined })}
                    />
                    {column.type === 'one of' && (
                      <CommaList
                        label={say.values(name)}
                        values={column.values}
                        onChange={(values) => change(name, { values })}
                      />
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Checkbox
                      size="xs"
                      aria-label={say.requiredOf(name)}
                      checked={column.required === true}
                      onChange={({ currentTarget }) => change(name, { required: currentTarget.checked })}
                    />
                  </Table.Td>
                  <Table.Td>
                    <Checkbox
                      size="xs"
                      aria-label={say.identifiesOf(name)}
                      checked={column.identifies === true}
                      onChange={({ currentTarget }) => change(name, { identifies: currentTarget.checked })}
                    />
                  </Table.Td>
                  <Table.Td>
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={say.removeColumn(name)}
                      onClick={() => edit.set(['columns', name], undefined)}
                    >
                      <IconX size={16} aria-hidden />
                    </ActionIcon>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setTried(wrong)
          if (wrong || added.length === 0) return
          const saved = isObject(operation.columns) ? Object.entries(operation.columns) : []
          edit.setEntries(['columns'], [...saved, ...added.map((name) => [name, 'text'] as const)])
          setTyped('')
        }}
      >
        <Group gap="xs" align="flex-end">
          <CodeInput
            label={say.newColumns}
            description={say.newColumnsHelp}
            error={tried && wrong && say.columnInvalid}
            value={typed}
            style={{ flex: 1 }}
            onChange={setTyped}
          />
          <Button size="xs" variant="default" type="submit">
            {say.addColumns}
          </Button>
        </Group>
      </form>
    </Panel>
  )
}
