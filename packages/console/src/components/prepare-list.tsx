import { List } from '@mantine/core'
import { WithCode } from './with-code.tsx'

/** Requirements for connecting a connector, and where to find them. */
export const PrepareList = ({ prepare }: { prepare: readonly string[] }) => (
  <List size="sm" spacing={4} styles={{ item: { overflowWrap: 'anywhere' } }}>
    {prepare.map((sentence) => (
      <List.Item key={sentence}>
        <WithCode text={sentence} />
      </List.Item>
    ))}
  </List>
)
