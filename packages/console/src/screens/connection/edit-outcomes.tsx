import { Radio, Select, Stack, TagsInput } from '@mantine/core'
import { type ConnectionDetails, outcomesConnectorId } from '@penstock/wire'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { outcomes as say } from '../../strings/outcomes.ts'

const newStore = 'new'
const off = 'off'

const listOf = (value: unknown): string[] =>
  String(value ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** Chooses where outcomes are recorded, and the columns that identify a row. @param stores configurations that can record them */
export function EditOutcomes({
  connection: { accountId, id, destConnectionConfig },
  stores,
  onClose,
}: {
  connection: ConnectionDetails
  stores: readonly { readonly configurationId: string; readonly name: string }[]
  onClose: () => void
}) {
  const [addConnectors, configure, update] = [
    useWrite('addConnectors'),
    useWrite('configureConnector'),
    useWrite('updateConnection'),
  ]
  const known = useRead('getDrift', { accountId, id }).data?.reply.source ?? []
  const { outcomes, outcomeColumns, outcomeRows, ...others } = destConnectionConfig
  const record = listOf(outcomes)[0]
  const current = stores.find((one) => record === one.configurationId || record === one.name)?.configurationId
  const [store, setStore] = useState(current ?? stores[0]?.configurationId ?? newStore)
  const [columns, setColumns] = useState(listOf(outcomeColumns))
  const [rows, setRows] = useState(outcomeRows === 'Sent' ? 'Sent' : 'All')
  const storeId = async () => {
    if (store !== newStore) return store
    await addConnectors.mutateAsync({ accountId, body: { connectorIds: [outcomesConnectorId] } })
    const body = { name: say.newName, secretConfig: {} }
    return (await configure.mutateAsync({ accountId, id: outcomesConnectorId, body })).reply.configurationId
  }
  const save = async () => {
    const recorded =
      store === off
        ? {}
        : {
            outcomes: await storeId(),
            outcomeColumns: columns.join(', '),
            ...(rows === 'Sent' && { outcomeRows: rows }),
          }
    await update.mutateAsync({ accountId, id, body: { destConnectionConfig: { ...others, ...recorded } } })
    return store === off ? say.turnedOff : say.saved
  }
  const choices = [
    ...stores.map(({ configurationId, name }) => ({ value: configurationId, label: name })),
    ...(stores.length === 0 ? [{ value: newStore, label: say.newStore(say.newName) }] : []),
    ...(record === undefined ? [] : [{ value: off, label: say.off }]),
  ]
  return (
    <FormDialog title={say.title} onSubmit={save} onClose={onClose}>
      {(errorOf) => (
        <>
          <Select
            label={say.store}
            description={say.storeHelp}
            data={choices}
            value={store}
            allowDeselect={false}
            error={errorOf('destConnectionConfig.outcomes')}
            onChange={(value) => setStore(value ?? store)}
          />
          {store !== off && (
            <>
              <TagsInput
                label={say.keyColumns}
                description={say.keyColumnsHelp}
                data={known.map(({ name }) => name)}
                value={columns}
                splitChars={[',']}
                error={errorOf('destConnectionConfig.outcomeColumns')}
                onChange={setColumns}
              />
              <Radio.Group label={say.rows} value={rows} onChange={setRows}>
                <Stack gap="xs" mt="xs">
                  <Radio value="All" label={say.allRows} />
                  <Radio value="Sent" label={say.sentRows} />
                </Stack>
              </Radio.Group>
            </>
          )}
        </>
      )}
    </FormDialog>
  )
}
