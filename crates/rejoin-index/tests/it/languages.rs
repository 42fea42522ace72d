//! Words in every language.

use crate::support::Disk;

#[test]
fn words_are_found_in_every_language() {
    let disk = Disk::new();
    let texts = [
        "Die Größe stimmt nicht",
        "ошибка при компиляции",
        "修复这个编译错误",
        "コンパイルエラーを直す",
        "컴파일 오류 수정",
        "إصلاح خطأ الترجمة",
        "תקן את השגיאה",
        "कंपाइल त्रुटि ठीक करें",
        "แก้ไขข้อผิดพลาด",
        "Διόρθωσε το ΛΆΘΟΣ",
        "düzelt İSTANBUL hatası",
        "naïve café 🦀 crab",
    ];
    for (number, text) in (0..).zip(texts) {
        disk.begin(number, "/p");
        disk.turn(number, 1, None, text, "ok");
    }
    let finds = |words: &[&str], number: u128| {
        assert_eq!(disk.found(words), [crate::support::conversation(number)], "{words:?}");
    };
    finds(&["GRÖßE"], 0);
    finds(&["größe stimmt"], 0);
    finds(&["Ошибка"], 1);
    finds(&["комп*"], 1);
    finds(&["编译"], 2);
    finds(&["エラー"], 3);
    finds(&["오류"], 4);
    finds(&["خطأ"], 5);
    finds(&["השגיאה"], 6);
    finds(&["त्रुटि"], 7);
    finds(&["ข้อผิดพลาด"], 8);
    finds(&["λάθος"], 9);
    finds(&["istanbul"], 10);
    finds(&["naïve café crab"], 11);
    assert!(disk.found(&["译编"]).is_empty(), "in another order it is another word");
}
