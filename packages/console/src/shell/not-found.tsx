import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { Empty } from '../components/page.tsx'
import { shell as say } from '../strings/shell.ts'

/** Shown for a page that does not exist. */
export function NotFound() {
  return (
    <Empty
      title={say.notFound}
      help={say.notFoundHelp}
      action={
        <Button component={Link} to="/">
          {say.backToStart}
        </Button>
      }
    />
  )
}
