"""Pages as the site's Markdown library needs them."""

from website.markdown import adapted

_PAGE = """\
```sh no-run
   kept as it is
```

1. In a list:

   ```yaml
   a:
     b: 1
   ```

   More.
"""


def test_marks_go_and_lists_are_indented_by_four_but_not_what_a_fence_holds() -> None:
    assert adapted(_PAGE) == (
        "```sh\n   kept as it is\n```\n\n1. In a list:\n\n    ```yaml\n    a:\n      b: 1\n    ```\n\n    More.\n"
    )
